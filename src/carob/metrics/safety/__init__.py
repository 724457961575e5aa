"""Whether responses are safe: harm, profanity, personal data and secrets."""
