"""How scores become a verdict: profiles, thresholds, hard fails."""
