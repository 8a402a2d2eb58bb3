package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Version of Apache Kafka that the lane runs.
const Version = "4.4.0"

// pom names what Maven copies: the broker, and a backend without which it logs nothing.
const pom = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>oriel</groupId>
  <artifactId>kafka-lane</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>` + Version + `</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>2.25.5</version>
    </dependency>
  </dependencies>
</project>
`

// Fetch returns the folder of jars in ORIEL_CACHE_DIR (by default the user's cache), filling it with
// Maven where it is missing. Processes that come together wait for the first.
func Fetch(ctx context.Context) (string, error) {
	cache := os.Getenv("ORIEL_CACHE_DIR")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(base, "oriel")
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	libs := filepath.Join(cache, "kafka-"+Version)
	lock, err := os.OpenFile(libs+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := waitLock(ctx, lock); err != nil {
		return "", fmt.Errorf("wait for another fetch of apache kafka: %w", err)
	}
	if _, err := os.Stat(libs); err == nil {
		return libs, nil
	}
	work, err := os.MkdirTemp(cache, "kafka-fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), []byte(pom), 0o644); err != nil {
		return "", err
	}
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime",
		"-DoutputDirectory="+filepath.Join(work, "libs"))
	mvn.Dir = work
	if out, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetch apache kafka %s with maven: %w: %s", Version, err, strings.TrimSpace(string(out)))
	}
	if _, err := os.Stat(filepath.Join(work, "libs", "kafka_2.13-"+Version+".jar")); err != nil {
		return "", fmt.Errorf("maven fetched no broker: %w", err)
	}
	// Whole or absent: an interrupted fetch leaves nothing under the final name.
	return libs, os.Rename(filepath.Join(work, "libs"), libs)
}

func waitLock(ctx context.Context, f *os.File) error {
	got := make(chan error, 1)
	go func() {
		for {
			if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
				got <- err
				return
			}
		}
	}()
	select {
	case err := <-got:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
