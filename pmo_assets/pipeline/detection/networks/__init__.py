"""Trained networks: the shipped ONNX models and RetinaNet checkpoints, their input, batches and output."""
