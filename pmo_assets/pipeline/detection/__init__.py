"""Detection: panels, panel identifiers, images, image type and mark status of a figure."""
