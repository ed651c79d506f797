std = "luajit"
cache = false
max_line_length = 120
-- Tables of names in comments and long messages may be.
max_comment_line_length = false
max_string_line_length = false
globals = { "vim" }
exclude_files = { "lua/redline/protocol.lua" }
files["tests"] = { globals = { "test" } }
