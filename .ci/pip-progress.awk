# One line per ten packages instead of pip's hundreds; errors pass through.
/^Collecting / { n++; if (n % 10 == 0) { printf "  %d packages found\n", n; fflush() } next }
/^Installing collected packages/ { print "  installing them"; fflush(); next }
/^Successfully installed/ { print "  done"; next }
/^(ERROR|error)/ { print; fflush() }
