"""Training of the detectors: synthetic figures with exact boxes, network architectures, training loops, ONNX export."""
