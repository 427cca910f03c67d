tilec info
