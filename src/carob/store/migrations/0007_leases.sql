-- What one of several servers on this store does for all of them, until a time in microseconds
-- since 1970. A server that is gone lets its leases run out.

CREATE TABLE leases (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL
);
