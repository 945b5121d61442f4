// Everything this library offers to C++: moving arrays between memory layouts.
#pragma once

#include "restride/broadcast.hpp"
#include "restride/element_type.hpp"
#include "restride/executor.hpp"
#include "restride/explain.hpp"
#include "restride/index.hpp"
#include "restride/kernel_cache.hpp"
#include "restride/layout.hpp"
#include "restride/plan.hpp"
#include "restride/problem.hpp"
#include "restride/result.hpp"
#include "restride/shape.hpp"
#include "restride/thread_pool.hpp"
