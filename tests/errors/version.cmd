tilec --version
