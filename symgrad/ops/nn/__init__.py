"""The functions of ``nn.functional``: activations, layers, convolutions, pooling, resampling, losses."""
