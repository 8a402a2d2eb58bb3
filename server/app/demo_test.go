package app_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel"
	"oriel/server/apptest"
	"oriel/server/embedded"
	"oriel/server/embedded/idp"
)

// demoFile is demo.json as its users read it.
type demoFile struct {
	URL, ProducerToken, ReaderToken, OperatorToken, Issuer string

	Users   []idp.Person
	Machine struct{ ClientID, ClientSecret, TokenURL string }
}

// startDemo runs the demo in a folder and at an address, and reads its demo.json.
func startDemo(t *testing.T, dir, addr string, env ...string) (*apptest.Child, demoFile) {
	t.Helper()
	c := apptest.Start(t, append([]string{"ORIEL_ADDR=" + addr, "ORIEL_DATA_DIR=" + dir, "ORIEL_DEMO_TRAFFIC=off"}, env...), "demo")
	c.WaitReady("http://"+addr, 2*time.Minute)
	return c, readDemo(t, dir)
}

func readDemo(t *testing.T, dir string) demoFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file demoFile
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// demoDir is a folder that another user may pass through, unlike t.TempDir's.
func demoDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "oriel-demo-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// browser keeps cookies and follows redirects.
type browser struct {
	t    *testing.T
	http *http.Client
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, Timeout: 20 * time.Second}}
}

func (b *browser) send(method, address, body string, header ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res, string(text)
}

// signIn goes from the program to the provider and back, as the person whom the form names.
func (b *browser) signIn(program string, form url.Values) {
	b.t.Helper()
	page, text := b.send(http.MethodGet, program+"/auth/sign-in?return=/explore", "")
	field := regexp.MustCompile(`name="request" value="([^"]+)"`).FindStringSubmatch(text)
	if field == nil {
		b.t.Fatalf("no sign-in at %s (%d):\n%.2000s", page.Request.URL, page.StatusCode, text)
	}
	form.Set("request", field[1])
	issuer := "http://" + page.Request.URL.Host
	back, text := b.send(http.MethodPost, issuer+"/sign-in", form.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", issuer)
	if got := back.Request.URL.String(); got != program+"/explore" || back.StatusCode != http.StatusOK {
		b.t.Fatalf("came back to %s (%d):\n%.2000s", got, back.StatusCode, text)
	}
}

// session is who the program says this browser is.
func (b *browser) session(program string) (status int, name string, roles []string) {
	b.t.Helper()
	res, text := b.send(http.MethodGet, program+"/v1/session", "")
	var s struct {
		Name  string
		Roles []string
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		b.t.Fatalf("%d: %s", res.StatusCode, text)
	}
	return res.StatusCode, s.Name, s.Roles
}

func TestTheDemosPeopleSignInAndItsTokensWork(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	_, file := startDemo(t, dir, apptest.FreeAddr(t))
	want := map[string][]string{
		"analyst-1": {"analyst"}, "operator-1": {"analyst", "operator"}, "admin-1": {"analyst", "operator", "admin"},
	}
	if len(file.Users) != len(want) {
		t.Fatalf("people: %+v", file.Users)
	}
	for _, u := range file.Users {
		for how, form := range map[string]url.Values{
			"at a click": {"person": {u.Username}}, "with the password": {"username": {u.Username}, "password": {u.Password}},
		} {
			b := newBrowser(t)
			if status, _, _ := b.session(file.URL); status != http.StatusUnauthorized {
				t.Errorf("%s is signed in before signing in: %d", u.Username, status)
			}
			b.signIn(file.URL, form)
			if status, name, roles := b.session(file.URL); status != http.StatusOK || name != u.Name || !slices.Equal(roles, want[u.Username]) {
				t.Errorf("%s %s: %d, %s with %v", u.Username, how, status, name, roles)
			}
		}
	}

	for name, c := range map[string]struct {
		method, path, token string
		want                int
	}{
		"the operator's reads events":         {http.MethodGet, "/v1/events", file.OperatorToken, http.StatusOK},
		"the operator's lists tokens":         {http.MethodGet, "/v1/tokens", file.OperatorToken, http.StatusOK},
		"the operator's writes no events":     {http.MethodPost, "/v1/events", file.OperatorToken, http.StatusForbidden},
		"the reader's lists no tokens":        {http.MethodGet, "/v1/tokens", file.ReaderToken, http.StatusForbidden},
		"the producer's reads no events":      {http.MethodGet, "/v1/events", file.ProducerToken, http.StatusForbidden},
		"a machine's JWT reads events":        {http.MethodGet, "/v1/events", machineToken(t, file), http.StatusOK},
		"a machine's JWT administers nothing": {http.MethodGet, "/v1/tokens", machineToken(t, file), http.StatusForbidden},
	} {
		res, text := newBrowser(t).send(c.method, file.URL+c.path, "", "Authorization", "Bearer "+c.token)
		if res.StatusCode != c.want {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
	}
	for _, secret := range []string{"demo.json", "secret-key", "password-oriel_write", "password-oriel_read", "idp/key.pem", "idp/grants.json"} {
		if info, err := os.Stat(filepath.Join(dir, secret)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", secret, info, err)
		}
	}
	usesItsRoles(t, dir)
}

func machineToken(t *testing.T, file demoFile) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, file.Machine.TokenURL,
		strings.NewReader("grant_type=client_credentials&scope=events:read"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(file.Machine.ClientID, file.Machine.ClientSecret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatalf("no token: %d, %v", res.StatusCode, err)
	}
	return answer.Token
}

// usesItsRoles tells whether the program works with the roles that an installation has, and as no other.
func usesItsRoles(t *testing.T, dir string) {
	t.Helper()
	socket, err := os.ReadFile(filepath.Join(dir, "socket-dir"))
	if err != nil {
		t.Fatal(err)
	}
	password, err := os.ReadFile(filepath.Join(dir, "password"))
	if err != nil {
		t.Fatal(err)
	}
	owner := url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", string(password)), Path: "/oriel",
		RawQuery: url.Values{"host": {string(socket)}, "sslmode": {"disable"}}.Encode(),
	}
	conn, err := pgx.Connect(t.Context(), owner.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var roles []string
	if err := conn.QueryRow(t.Context(), `SELECT array_agg(DISTINCT usename::text ORDER BY usename::text) FROM pg_stat_activity
		WHERE application_name LIKE 'oriel%'`).Scan(&roles); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(roles, []string{"oriel_read", "oriel_write"}) {
		t.Errorf("the program is connected as %v", roles)
	}
	var more int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_roles WHERE rolname LIKE 'oriel%'
		AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)`).Scan(&more); err != nil || more != 0 {
		t.Errorf("%d of them may do more than connect, %v", more, err)
	}
}

func TestARestartOfTheDemoSignsNobodyOutAndAnEditTakesARoleAway(t *testing.T) {
	t.Parallel()
	dir, addr := demoDir(t), apptest.FreeAddr(t)
	often := "ORIEL_SESSION_ROLE_CHECK=1s"
	c, file := startDemo(t, dir, addr, often)
	b := newBrowser(t)
	b.signIn(file.URL, url.Values{"person": {"operator-1"}})
	if code := c.Stop(time.Minute); code != 0 {
		t.Fatalf("it stopped with %d", code)
	}

	_, again := startDemo(t, dir, addr, often)
	if again.Issuer != file.Issuer || again.OperatorToken != file.OperatorToken || again.Users[2].Password != file.Users[2].Password || again.Machine != file.Machine {
		t.Errorf("demo.json changed from %+v to %+v", file, again)
	}
	if status, name, roles := b.session(file.URL); status != http.StatusOK || name != "Otto" || !slices.Equal(roles, []string{"analyst", "operator"}) {
		t.Fatalf("after the restart: %d, %s with %v", status, name, roles)
	}

	path := filepath.Join(dir, "demo.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), `"operator"`, `"analyst"`, 1)
	if edited == string(text) {
		t.Fatalf("no role to edit in %s", text)
	}
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	var roles []string
	apptest.Eventually(t, 30*time.Second, func() bool {
		_, _, roles = b.session(file.URL)
		return slices.Equal(roles, []string{"analyst"})
	}, func() string { return "the role stays: " + strings.Join(roles, ", ") })
}

func TestTheDemoTakesOverAFolderFromBeforeThereWereRoles(t *testing.T) {
	t.Parallel()
	dir := demoDir(t)
	const token = "orl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	pg, err := embedded.StartPostgres(t.Context(), embedded.PostgresConfig{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			if err := pg.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	defer stop()
	first, err := oriel.Migrations.ReadFile("db/migrations/0001_init.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	run := func(database string, statements ...string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), pg.URL(database))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		for _, sql := range statements {
			if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	run("postgres", "CREATE DATABASE oriel")
	run("oriel", string(first),
		"CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL)",
		"INSERT INTO schema_migrations VALUES (1, false)",
		"INSERT INTO api_token (prefix, hash, name, scopes) VALUES ('AAAAAAAA', sha256('"+token+"'), 'demo reader', ARRAY['events:read'])")
	stop()
	old := `{"url":"http://127.0.0.1:1","producerToken":"orl_x","readerToken":"` + token + `"}`
	if err := os.WriteFile(filepath.Join(dir, "demo.json"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}

	addr := apptest.FreeAddr(t)
	_, file := startDemo(t, dir, addr)
	if file.URL != "http://"+addr || file.ReaderToken != token || file.OperatorToken == "" || len(file.Users) != 3 {
		t.Fatalf("demo.json is %+v", file)
	}
	if status, body := apptest.Get(t, file.URL+"/v1/events", token); status != http.StatusOK {
		t.Errorf("the token of before: %d %s", status, body)
	}
	newBrowser(t).signIn(file.URL, url.Values{"person": {"admin-1"}})
}

func TestTheDemoSignsInAtAnotherProviderThatIsNamed(t *testing.T) {
	t.Parallel()
	addr := apptest.FreeAddr(t)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	company, err := idp.Start(t.Context(), idp.Config{
		Listener: l, DataDir: t.TempDir(), ClientID: "oriel", Redirects: []string{"http://" + addr + "/auth/callback"},
		People: []idp.Person{{Username: "eve", Password: "sesame", Name: "Eve", Roles: []string{"staff"}}}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := company.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	_, file := startDemo(t, demoDir(t), addr, "ORIEL_OIDC_ISSUER="+company.Issuer(), "ORIEL_OIDC_CLIENT_ID=oriel", "ORIEL_OIDC_OPERATOR_VALUES=staff")
	if file.Users != nil || file.Issuer != "" || file.Machine.ClientID != "" {
		t.Errorf("demo.json has people of another provider: %+v", file)
	}
	b := newBrowser(t)
	b.signIn(file.URL, url.Values{"username": {"eve"}, "password": {"sesame"}})
	if status, name, roles := b.session(file.URL); status != http.StatusOK || name != "Eve" || !slices.Contains(roles, "operator") {
		t.Errorf("%d, %s with %v", status, name, roles)
	}
}
