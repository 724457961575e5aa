-- Who may use a server. Only digests are stored: a stolen store opens no server.

CREATE TABLE tokens (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest BYTEA NOT NULL,
    roles TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
