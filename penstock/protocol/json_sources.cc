// Boost.JSON without its library: its definitions are compiled here, once.
#include <boost/json/src.hpp>
