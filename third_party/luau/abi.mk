# The defines that change Luau's ABI. Luau and everything that includes its headers must be compiled
# with these same values: LUAI_MAXCSTACK moves the registry and upvalue pseudo-indices, LUA_VECTOR_SIZE
# changes the size of a value, the *_API ones decide how the symbols are named.
LUAU_ABI := -DLUAI_MAXCSTACK=1000000 -DLUA_VECTOR_SIZE=3 \
	'-DLUA_API=extern "C"' '-DLUACODE_API=extern "C"' \
	'-DLUACODEGEN_API=extern "C"' '-DLUAJITINLINER_API=extern "C"'
