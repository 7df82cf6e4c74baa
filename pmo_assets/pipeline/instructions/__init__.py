"""Instructions about panels: cues, their scores, questions with answers, and verdicts on them."""
