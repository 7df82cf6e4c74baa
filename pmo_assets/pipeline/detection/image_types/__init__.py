"""What a picture was made with and which of the paper's four image types it is."""
