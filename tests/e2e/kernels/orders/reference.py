"""Products in double precision; of integers in 32 bits."""

import numpy as np


def exact(a):
    return a.astype(np.int32) if a.dtype == np.int8 else np.asarray(a, dtype=np.float64)


def tf32(a):
    bits = np.asarray(a, dtype=np.float32).view(np.uint32)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


def product(order, rounded=exact, columns_first=False):
    def reference(inputs, params):
        a, b = rounded(inputs["a"]), rounded(inputs["b"])
        c = (a if order[0] == "n" else a.T) @ (b if order[1] == "n" else b.T)
        return {"c": c.T if columns_first else c}
    return reference


def batched(rounded=exact):
    return lambda inputs, params: {"c": rounded(inputs["a"]) @ rounded(inputs["b"]).transpose(1, 0, 2)}


nn = nn_i8 = product("nn")
nt_f64 = product("nt")
tn_f64 = product("tn")
tt = tt_f64 = tt_i8 = product("tt", columns_first=True)
tn_tf32 = product("tn", tf32)
tt_tf32 = product("tt", tf32, columns_first=True)
batched_f8 = batched_f64 = batched_i8 = batched()
batched_tf32 = batched(tf32)
