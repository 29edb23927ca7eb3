//! MySQL's functions. The lists are wrapped by hand, because one name per line would be too long to read.
//!
//! Only functions of the server itself are deterministic. Those of its components, such as MD5(), are not, because a stored function may
//! replace them. Nor are functions that return TIME values, because the server completes these with today's date where a date is
//! needed; JSON_TABLE, whose columns can be of that type; and POINT(), POLYGON() and the like, as on MariaDB.

use crate::Objection::*;
use crate::{Functions, Names, Objections};

pub(super) const FUNCTIONS: Functions = Functions {
    syntax: Names::new(SYNTAX),
    deterministic: Names::new(DETERMINISTIC),
    deterministic_if_tight: Names::new(TIGHT),
    deterministic_with_argument: Names::new(&["unix_timestamp"]),
    refused: REFUSED,
    niladic: NILADIC,
    diagnostics: Names::new(&["error_count", "found_rows", "row_count", "warning_count"]),
};

/// Types, and keywords that a parenthesis may follow without a call.
#[rustfmt::skip]
const SYNTAX: &[&str] = &[
    "all", "and", "any", "as", "between", "binary", "by", "case", "datetime", "dec", "decimal", "distinct",
    "distinctrow", "div", "double", "else", "except", "exists", "fixed", "float", "from", "group", "having",
    "high_priority", "in", "index", "int", "integer", "intersect", "interval", "is", "join", "key", "lateral",
    "like", "match", "member", "mod", "nchar", "not", "numeric", "of", "on", "or", "order", "over", "partition",
    "qualify", "regexp", "rlike", "rollup", "row", "select", "some", "sql_big_result", "sql_buffer_result",
    "sql_no_cache", "sql_small_result", "straight_join", "then", "union", "using", "values", "varchar", "when",
    "where", "xor",
];

#[rustfmt::skip]
const DETERMINISTIC: &[&str] = &[
    "abs", "acos", "aes_decrypt", "aes_encrypt", "any_value", "ascii", "asin", "atan", "atan2", "avg", "bin",
    "bin_to_uuid", "bit_count", "bit_length", "ceil", "ceiling", "char", "char_length", "character_length",
    "charset", "coalesce", "coercibility", "collation", "compress", "concat", "concat_ws", "conv", "convert",
    "convert_tz", "cos", "cot", "crc32", "cume_dist", "database", "date", "date_format", "datediff", "day",
    "dayname", "dayofmonth", "dayofweek", "dayofyear", "degrees", "dense_rank", "elt", "exp", "export_set",
    "extractvalue", "field", "find_in_set", "first_value", "floor", "format", "format_bytes", "format_pico_time",
    "from_base64", "from_days", "from_unixtime", "from_vector", "greatest", "grouping", "gtid_subset",
    "gtid_subtract", "hex", "hour", "icu_version", "if", "ifnull", "inet6_aton", "inet6_ntoa", "inet_aton",
    "inet_ntoa", "insert", "instr", "is_ipv4", "is_ipv4_compat", "is_ipv4_mapped", "is_ipv6", "is_uuid", "isnull",
    "json_array", "json_array_append", "json_array_insert", "json_contains", "json_contains_path", "json_depth",
    "json_extract", "json_insert", "json_keys", "json_length", "json_merge", "json_merge_patch",
    "json_merge_preserve", "json_object", "json_overlaps", "json_pretty", "json_quote", "json_remove",
    "json_replace", "json_schema_valid", "json_schema_validation_report", "json_search", "json_set", "json_type",
    "json_unquote", "json_valid", "lag", "last_day", "last_value", "lcase", "lead", "least", "left", "length", "ln",
    "locate", "log", "log10", "log2", "lower", "lpad", "ltrim", "make_set", "makedate", "mbrcontains",
    "mbrcoveredby", "mbrcovers", "mbrdisjoint", "mbrequals", "mbrintersects", "mbroverlaps", "mbrtouches",
    "mbrwithin", "microsecond", "minute", "month", "monthname", "name_const", "nth_value", "ntile", "nullif", "oct",
    "octet_length", "ord", "percent_rank", "period_add", "period_diff", "pi", "pow", "power", "quarter", "quote",
    "radians", "rank", "regexp_instr", "regexp_like", "regexp_replace", "regexp_substr", "repeat", "replace",
    "reverse", "right", "round", "row_number", "rpad", "rtrim", "schema", "second", "sha2", "sign", "sin",
    "soundex", "space", "sqrt", "st_area", "st_asbinary", "st_asgeojson", "st_astext", "st_aswkb", "st_aswkt",
    "st_buffer", "st_buffer_strategy", "st_centroid", "st_contains", "st_convexhull", "st_crosses", "st_difference",
    "st_dimension", "st_disjoint", "st_distance", "st_distance_sphere", "st_endpoint", "st_envelope", "st_equals",
    "st_exteriorring", "st_frechetdistance", "st_geohash", "st_geomcollfromtext", "st_geomcollfromtxt",
    "st_geomcollfromwkb", "st_geometrycollectionfromtext", "st_geometrycollectionfromwkb", "st_geometryfromtext",
    "st_geometryfromwkb", "st_geometryn", "st_geometrytype", "st_geomfromgeojson", "st_geomfromtext",
    "st_geomfromwkb", "st_hausdorffdistance", "st_interiorringn", "st_intersection", "st_intersects", "st_isclosed",
    "st_isempty", "st_issimple", "st_isvalid", "st_latfromgeohash", "st_latitude", "st_length", "st_linefromtext",
    "st_linefromwkb", "st_lineinterpolatepoint", "st_lineinterpolatepoints", "st_linestringfromtext",
    "st_linestringfromwkb", "st_longfromgeohash", "st_longitude", "st_makeenvelope", "st_mlinefromtext",
    "st_mlinefromwkb", "st_mpointfromtext", "st_mpointfromwkb", "st_mpolyfromtext", "st_mpolyfromwkb",
    "st_multilinestringfromtext", "st_multilinestringfromwkb", "st_multipointfromtext", "st_multipointfromwkb",
    "st_multipolygonfromtext", "st_multipolygonfromwkb", "st_numgeometries", "st_numinteriorring",
    "st_numinteriorrings", "st_numpoints", "st_overlaps", "st_pointatdistance", "st_pointfromgeohash",
    "st_pointfromtext", "st_pointfromwkb", "st_pointn", "st_polyfromtext", "st_polyfromwkb", "st_polygonfromtext",
    "st_polygonfromwkb", "st_simplify", "st_srid", "st_startpoint", "st_swapxy", "st_symdifference", "st_touches",
    "st_transform", "st_union", "st_validate", "st_within", "st_x", "st_y", "strcmp", "string_to_vector",
    "substring_index", "tan", "time_format", "time_to_sec", "timestamp", "timestampadd", "timestampdiff",
    "to_base64", "to_days", "to_seconds", "to_vector", "truncate", "ucase", "uncompress", "uncompressed_length",
    "unhex", "updatexml", "upper", "uuid_to_bin", "vector_dim", "vector_to_string", "version", "week", "weekday",
    "weekofyear", "weight_string", "year", "yearweek",
];

/// Functions that are built in only if the parenthesis directly follows the name.
#[rustfmt::skip]
const TIGHT: &[&str] = &[
    "adddate", "bit_and", "bit_or", "bit_xor", "cast", "count", "date_add", "date_sub", "extract", "group_concat",
    "json_arrayagg", "json_objectagg", "json_value", "max", "mid", "min", "position", "st_collect", "std", "stddev",
    "stddev_pop", "stddev_samp", "subdate", "substr", "substring", "sum", "trim", "var_pop", "var_samp", "variance",
];

#[rustfmt::skip]
const REFUSED: Objections = Objections::new(&[
    (Nondeterministic, Names::new(&[
        "curdate", "current_date", "current_time", "current_timestamp", "curtime", "default", "localtime",
        "localtimestamp", "now", "rand", "random_bytes", "sysdate", "utc_date", "utc_time", "utc_timestamp", "uuid",
        "uuid_short",
    ])),
    (SessionState, Names::new(&[
        "connection_id", "current_role", "current_user", "found_rows", "last_insert_id", "ps_current_thread_id",
        "ps_thread_id", "roles_graphml", "row_count", "session_user", "system_user", "user",
    ])),
    (SideEffect, Names::new(&[
        "benchmark", "get_lock", "is_free_lock", "is_used_lock", "load_file", "master_pos_wait",
        "release_all_locks", "release_lock", "sleep", "source_pos_wait", "wait_for_executed_gtid_set",
    ])),
    (CurrentDate, Names::new(&[
        "addtime", "json_table", "maketime", "sec_to_time", "str_to_date", "subtime", "time", "timediff",
    ])),
]);

#[rustfmt::skip]
const NILADIC: Objections = Objections::new(&[
    (Nondeterministic, Names::new(&[
        "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "utc_date", "utc_time",
        "utc_timestamp",
    ])),
    (SessionState, Names::new(&["current_user"])),
]);
