"""Assembly: images and identifiers to panels, subcaptions to panels, by geometry and identifiers."""
