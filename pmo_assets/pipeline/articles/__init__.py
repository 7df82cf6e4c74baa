"""Articles: their packages fetched, JATS and PDF front pages read, relevance, licences, credit, in-text mentions."""
