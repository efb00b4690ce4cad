#pragma once

namespace penstock::server {

// Gives freed memory back to the system where the C library keeps more than kWorthReturning of it for reuse: after a
// flood that is far more than a day's work needs. Threading: Thread-safe; other threads' allocations wait meanwhile.
// Cost: up to a few milliseconds after a flood, microseconds else; call it now and then.
void return_freed_memory() noexcept;

}  // namespace penstock::server
