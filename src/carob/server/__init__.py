"""The server behind `carob serve`: REST, OTLP receivers and pages. Needs the extra `server`."""
