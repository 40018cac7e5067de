set nocount on
go
print 'binary'
select stuff(0x010203, 2, 1, 0xFFFE) as s, stuff(0x010203, 1, 0, null) as n, stuff(0x010203, 4, 1, 0xFF) as beyond, stuff(cast(0x0102 as binary(4)), 1, 1, 0xAA) as b, stuff(0x010203, 2, 99, 0xEE) as tail, stuff('abc', 2, 1, 'xy') as t
select sql_variant_property(stuff(0x010203, 2, 1, 0xFFFE), 'BaseType') as stuff_of, sql_variant_property(substring(0x0102, 1, 1), 'BaseType') as substring_of, sql_variant_property(left(0x4142, 1), 'BaseType') as left_of, sql_variant_property(replace(0x4142, 0x41, 0x43), 'BaseType') as replace_of, sql_variant_property(replicate(0x41, 2), 'BaseType') as replicate_of, sql_variant_property(reverse(0x4142), 'BaseType') as reverse_of, sql_variant_property(concat(0x41, 0x42), 'BaseType') as concat_of, sql_variant_property(0x01 + 0x02, 'BaseType') as sum_of
select left(0x4142, 1) as l, right(0x4142, 1) as r, reverse(0x4142) as v, replicate(0x41, 3) as p, replace(0x4142, 0x41, 0x43) as c, concat(0x41, 0x42) as t, substring(0x4142, 2, 1) as b
go
