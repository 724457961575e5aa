-- What was done to the store, in order: each digest covers its entry and the digest before it, so
-- that an execution that is deleted, labelled or renamed behind Carob's back contradicts the chain.

CREATE TABLE ledger (
    number BIGINT NOT NULL PRIMARY KEY,
    digest BYTEA NOT NULL,
    entry BYTEA NOT NULL
);
