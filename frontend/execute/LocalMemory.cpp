//===- LocalMemory.cpp - registers that became memory ---------------------===//

#include "frontend/execute/LocalMemory.h"

#include "frontend/base/Interface.h"
#include "ir/proofs/Spelling.h"

using namespace mlir;
using namespace tile;

void tile::frontend::remarkOnLocalMemory(ir::KernelOp kernel, int64_t bytes) {
  if (bytes <= 0)
    return;
  auto remark = kernel.emitRemark("kernel `")
                << ir::nameInSource(kernel.getSymName()) << "` spills registers: a thread keeps "
                << bytes << " bytes in local memory";
  remark.attachNote() << "hint: smaller tile sizes (--set BINDER=SIZE), or more `warps` in the "
                         "schedule, leave a thread less to hold";
}
