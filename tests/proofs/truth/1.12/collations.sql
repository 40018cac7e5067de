set nocount on
go
print 'collations'
create table n (a varchar(10) collate Latin1_General_BIN2, b varchar(10)); insert n values ('a', 'A')
select * from (select a collate SQL_Latin1_General_CP1_CI_AS as x, b from n) d where x collate Latin1_General_CS_AS = b collate Latin1_General_CS_AS
select * from (select b collate Latin1_General_BIN2 as x from n) d join (select b collate Latin1_General_CS_AS as y from n) e on x = y collate Latin1_General_CI_AS
; with c as (select b collate Latin1_General_CS_AS as x from n) select * from c where x = 'A' collate Latin1_General_CI_AS
go
select * from (select b collate Latin1_General_BIN2 as x from n) d join (select b collate Latin1_General_CS_AS as y from n) e on x = y
go
select * from (select b collate Latin1_General_BIN2 as x from n) d, n where x = n.b
go
select 1 from n where a collate Latin1_General_CS_AS = b collate Latin1_General_BIN2
go
