//! MariaDB's functions. The lists are wrapped by hand, because one name per line would be too long to read.
//!
//! Some functions are not listed as deterministic: those that return TIME values, because the server completes these with today's date
//! where a date is needed; JSON_TABLE, whose columns can be of that type; and POINT(), POLYGON() and the like, which are stored
//! functions if they have another number of arguments.

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
    "high_priority", "in", "index", "int", "integer", "intersect", "interval", "is", "join", "key", "like", "match",
    "nchar", "not", "numeric", "on", "or", "order", "over", "partition", "regexp", "rlike", "row", "select", "some",
    "sql_big_result", "sql_buffer_result", "sql_cache", "sql_no_cache", "sql_small_result", "straight_join", "then",
    "union", "using", "values", "varchar", "when", "where", "xor",
];

#[rustfmt::skip]
const DETERMINISTIC: &[&str] = &[
    "abs", "acos", "aes_decrypt", "aes_encrypt", "area", "asbinary", "ascii", "asin", "astext", "aswkb",
    "aswkt", "atan", "atan2", "avg", "bin", "bit_count", "bit_length", "boundary", "buffer", "ceil", "ceiling",
    "centroid", "char", "char_length", "character_length", "charset", "chr", "coalesce", "coercibility",
    "collation", "column_check", "column_create", "column_exists", "column_json", "column_list",
    "compress", "concat", "concat_operator_oracle", "concat_ws", "contains", "conv", "convert", "convert_tz",
    "convexhull", "cos", "cot", "crc32", "crc32c", "crosses", "database", "date", "datediff", "day", "dayname",
    "dayofmonth", "dayofweek", "dayofyear", "degrees", "dimension", "disjoint", "elt", "endpoint", "envelope",
    "equals", "exp", "export_set", "exteriorring", "extractvalue", "field", "find_in_set", "floor", "format",
    "from_base64", "from_days", "from_unixtime", "geomcollfromtext", "geomcollfromwkb",
    "geometrycollectionfromtext", "geometrycollectionfromwkb", "geometryfromtext", "geometryfromwkb", "geometryn",
    "geometrytype", "geomfromtext", "geomfromwkb", "get_format", "glength", "greatest", "hex", "hour", "if",
    "ifnull", "inet6_aton", "inet6_ntoa", "inet_aton", "inet_ntoa", "insert", "instr", "interiorringn",
    "intersects", "is_ipv4", "is_ipv4_compat", "is_ipv4_mapped", "is_ipv6", "isclosed", "isempty", "isnull",
    "isring", "issimple", "json_array", "json_array_append", "json_array_insert", "json_compact", "json_contains",
    "json_contains_path", "json_depth", "json_detailed", "json_equals", "json_exists", "json_extract",
    "json_insert", "json_keys", "json_length", "json_loose", "json_merge", "json_merge_patch",
    "json_merge_preserve", "json_normalize", "json_object", "json_overlaps", "json_query", "json_quote",
    "json_remove", "json_replace", "json_search", "json_set", "json_type", "json_unquote", "json_valid",
    "json_value", "last_day", "lcase", "least", "left", "length", "lengthb", "linefromtext", "linefromwkb",
    "linestringfromtext", "linestringfromwkb", "ln", "locate", "log", "log10", "log2", "lower", "lpad", "ltrim",
    "make_set", "makedate", "mbrcontains", "mbrdisjoint", "mbrequal", "mbrintersects", "mbroverlaps", "mbrtouches",
    "mbrwithin", "md5", "microsecond", "minute", "mlinefromtext", "mlinefromwkb", "mod", "month", "monthname",
    "mpointfromtext", "mpointfromwkb", "mpolyfromtext", "mpolyfromwkb", "multilinestringfromtext",
    "multilinestringfromwkb", "multipointfromtext", "multipointfromwkb", "multipolygonfromtext",
    "multipolygonfromwkb", "name_const", "natural_sort_key", "nullif", "numgeometries", "numinteriorrings",
    "numpoints", "nvl", "nvl2", "oct", "octet_length", "ord", "overlaps", "period_add", "period_diff", "pi",
    "pointfromtext", "pointfromwkb", "pointn", "pointonsurface", "polyfromtext", "polyfromwkb", "polygonfromtext",
    "polygonfromwkb", "pow", "power", "quarter", "quote", "radians", "regexp_instr", "regexp_replace",
    "regexp_substr", "repeat", "replace", "reverse", "right", "round", "rpad", "rtrim", "schema", "second",
    "sformat", "sha", "sha1", "sha2", "sign", "sin", "soundex", "space", "sqrt", "srid", "st_area", "st_asbinary",
    "st_asgeojson", "st_astext", "st_aswkb", "st_aswkt", "st_boundary", "st_buffer", "st_centroid", "st_contains",
    "st_convexhull", "st_crosses", "st_difference", "st_dimension", "st_disjoint", "st_distance",
    "st_distance_sphere", "st_endpoint", "st_envelope", "st_equals", "st_exteriorring", "st_geomcollfromtext",
    "st_geomcollfromwkb", "st_geometrycollectionfromtext", "st_geometrycollectionfromwkb", "st_geometryfromtext",
    "st_geometryfromwkb", "st_geometryn", "st_geometrytype", "st_geomfromgeojson", "st_geomfromtext",
    "st_geomfromwkb", "st_interiorringn", "st_intersection", "st_intersects", "st_isclosed", "st_isempty",
    "st_isring", "st_issimple", "st_length", "st_linefromtext", "st_linefromwkb", "st_linestringfromtext",
    "st_linestringfromwkb", "st_numgeometries", "st_numinteriorrings", "st_numpoints", "st_overlaps",
    "st_pointfromtext", "st_pointfromwkb", "st_pointn", "st_pointonsurface", "st_polyfromtext", "st_polyfromwkb",
    "st_polygonfromtext", "st_polygonfromwkb", "st_relate", "st_srid", "st_startpoint", "st_symdifference",
    "st_touches", "st_union", "st_within", "st_x", "st_y", "startpoint", "strcmp", "substring_index",
    "tan", "time_format", "time_to_sec", "timestamp", "timestampadd", "timestampdiff", "to_base64", "to_char",
    "to_days", "to_seconds", "touches", "truncate", "ucase", "uncompress", "uncompressed_length", "unhex",
    "updatexml", "upper", "version", "week", "weekday", "weekofyear", "weight_string", "within", "x", "y", "year",
    "yearweek",
];

/// Functions that are built in only if the parenthesis directly follows the name.
#[rustfmt::skip]
const TIGHT: &[&str] = &[
    "add_months", "adddate", "bit_and", "bit_or", "bit_xor", "cast", "count", "cume_dist", "date_add",
    "date_format", "date_sub", "decode", "dense_rank", "extract", "first_value", "group_concat", "json_arrayagg",
    "json_objectagg", "lag", "last_value", "lead", "max", "median", "mid", "min", "nth_value", "ntile",
    "percent_rank", "percentile_cont", "percentile_disc", "position", "rank", "row_number", "std", "stddev",
    "stddev_pop", "stddev_samp", "subdate", "substr", "substring", "sum", "trim", "trim_oracle", "var_pop",
    "var_samp", "variance",
];

#[rustfmt::skip]
const REFUSED: Objections = Objections::new(&[
    (Nondeterministic, Names::new(&[
        "curdate", "current_date", "current_time", "current_timestamp", "curtime", "default", "encrypt",
        "localtime", "localtimestamp", "now", "rand", "random_bytes", "rownum", "sys_guid", "sysdate",
        "systimestamp", "utc_date", "utc_time", "utc_timestamp", "uuid", "uuid_short", "uuid_v4", "uuid_v7",
        "value",
    ])),
    (SessionState, Names::new(&[
        "connection_id", "current_role", "current_user", "found_rows", "last_insert_id", "row_count",
        "session_user", "system_user", "user", "wsrep_last_seen_gtid", "wsrep_last_written_gtid",
    ])),
    (SideEffect, Names::new(&[
        "benchmark", "binlog_gtid_pos", "get_lock", "is_free_lock", "is_used_lock", "load_file", "master_gtid_wait",
        "master_pos_wait", "release_all_locks", "release_lock", "sleep", "wsrep_sync_wait_upto_gtid",
    ])),
    (CurrentDate, Names::new(&[
        "addtime", "column_get", "maketime", "sec_to_time", "str_to_date", "subtime", "time", "timediff",
    ])),
    (SequenceValue, Names::new(&["lastval", "nextval", "setval"])),
    (Procedure, Names::new(&["analyse"])),
]);

#[rustfmt::skip]
const NILADIC: Objections = Objections::new(&[
    (Nondeterministic, Names::new(&[
        "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "utc_date", "utc_time",
        "utc_timestamp",
    ])),
    (SessionState, Names::new(&["current_role", "current_user"])),
]);
