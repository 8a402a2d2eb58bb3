package main

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

// errAbsent is a peer that is not on this machine and may not be fetched.
var errAbsent = errors.New("it is not in the cache, and -fetch leaves it out")

// cached returns a folder of ORIEL_CACHE_DIR (by default the user's cache), which fill makes where it is
// missing. Processes that come together wait for the first.
func cached(ctx context.Context, name string, fetch bool, fill func(ctx context.Context, dir string) error) (string, error) {
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
	whole := filepath.Join(cache, name)
	lock, err := os.OpenFile(whole+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := waitLock(ctx, lock); err != nil {
		return "", fmt.Errorf("wait for another fetch of %s: %w", name, err)
	}
	if _, err := os.Stat(whole); err == nil {
		return whole, nil
	}
	if !fetch {
		return "", errAbsent
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := fill(ctx, work); err != nil {
		return "", fmt.Errorf("fetch %s: %w", name, err)
	}
	// Whole or absent: an interrupted fetch leaves nothing under the final name.
	return whole, os.Rename(work, whole)
}

// waitLock tries again and again, as a blocked flock would not heed ctx.
func waitLock(ctx context.Context, f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		if err := pause(ctx, tick); err != nil {
			return err
		}
	}
}

// tool runs a program in a folder and returns what it said where it failed.
func tool(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		const keep = 1500
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out[max(0, len(out)-keep):])))
	}
	return nil
}

// The peers' versions.
const (
	connectVersion  = "4.4.0"
	debeziumVersion = "3.6.0.Final"
	bentoVersion    = "v1.19.0"
)

// connectPOM names the worker, the converter, a backend without which it logs nothing, and sockets of the
// file system for Java, as the embedded PostgreSQL listens on nothing else.
const connectPOM = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>oriel</groupId>
  <artifactId>connect-peer</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>connect-runtime</artifactId>
      <version>` + connectVersion + `</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>connect-json</artifactId>
      <version>` + connectVersion + `</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>2.25.5</version>
    </dependency>
    <dependency>
      <groupId>com.kohlschutter.junixsocket</groupId>
      <artifactId>junixsocket-core</artifactId>
      <version>2.10.1</version>
      <type>pom</type>
    </dependency>
  </dependencies>
</project>
`

// fetchConnect returns a folder with the worker's jars in libs and the sink in plugins.
func fetchConnect(ctx context.Context) (string, error) {
	name := "connect-" + connectVersion + "-debezium-jdbc-" + debeziumVersion
	return cached(ctx, name, true, func(ctx context.Context, dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(connectPOM), 0o644); err != nil {
			return err
		}
		if err := tool(ctx, dir, nil, "mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime",
			"-DexcludeTypes=pom", "-DoutputDirectory="+filepath.Join(dir, "libs")); err != nil {
			return err
		}
		if err := tool(ctx, dir, nil, "mvn", "-q", "-B", "dependency:unpack",
			"-Dartifact=io.debezium:debezium-connector-jdbc:"+debeziumVersion+":tar.gz:plugin",
			"-DoutputDirectory="+filepath.Join(dir, "plugins")); err != nil {
			return err
		}
		for _, want := range []string{
			"libs/connect-runtime-" + connectVersion + ".jar",
			"plugins/debezium-connector-jdbc/debezium-connector-jdbc-" + debeziumVersion + ".jar",
		} {
			if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
				return fmt.Errorf("maven left something out: %w", err)
			}
		}
		return nil
	})
}

// Bento with the parts that the comparison uses: all of them are some hundred modules more.
const (
	bentoModule = `module bento

go 1.26

require (
	github.com/lib/pq v1.10.9
	github.com/warpstreamlabs/bento ` + bentoVersion + `
)
`
	bentoMain = `package main

import (
	"context"

	_ "github.com/lib/pq"
	_ "github.com/warpstreamlabs/bento/public/components/kafka"
	_ "github.com/warpstreamlabs/bento/public/components/pure"
	_ "github.com/warpstreamlabs/bento/public/components/sql/base"
	"github.com/warpstreamlabs/bento/public/service"
)

func main() { service.RunCLI(context.Background()) }
`
)

// fetchBento returns the path of the program, which takes minutes to build.
func fetchBento(ctx context.Context, fetch bool) (string, error) {
	dir, err := cached(ctx, "bento-"+bentoVersion, fetch, func(ctx context.Context, dir string) error {
		for name, text := range map[string]string{"go.mod": bentoModule, "main.go": bentoMain} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		return tool(ctx, dir, []string{"CGO_ENABLED=0", "GOWORK=off"}, "go", "build", "-mod=mod", "-trimpath", "-o", "bento", ".")
	})
	return filepath.Join(dir, "bento"), err
}
