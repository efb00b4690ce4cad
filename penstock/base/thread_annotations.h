#pragma once

// Names for clang's thread-safety analysis (clang.llvm.org/docs/ThreadSafetyAnalysis.html); nothing under gcc.
#if defined(__clang__)
#define PENSTOCK_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PENSTOCK_THREAD_ANNOTATION(x)
#endif

#define PENSTOCK_CAPABILITY(name) PENSTOCK_THREAD_ANNOTATION(capability(name))
#define PENSTOCK_SCOPED_CAPABILITY PENSTOCK_THREAD_ANNOTATION(scoped_lockable)
#define PENSTOCK_GUARDED_BY(mutex) PENSTOCK_THREAD_ANNOTATION(guarded_by(mutex))
#define PENSTOCK_ACQUIRE(...) PENSTOCK_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define PENSTOCK_RELEASE(...) PENSTOCK_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define PENSTOCK_REQUIRES(...) PENSTOCK_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
