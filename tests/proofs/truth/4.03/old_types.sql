-- sp_addtype and sp_droptype, as the scripts of sample databases use them.
set nocount on
go
execute sp_addtype id, 'varchar(11)', 'NOT NULL'
execute sp_addtype tid, 'varchar(6)', 'NOT NULL'
execute sp_addtype @typename = N'maybe', @phystype = N'int', @nulltype = N'NULL'
execute sp_addtype usual, 'decimal(9, 2)'
select name, type_name(system_type_id) as base, max_length, precision, scale, is_nullable from sys.types where is_user_defined = 1 order by name
go
create table authors (au_id id primary key, title tid, n maybe, price usual)
insert authors values ('1', 't', null, 1.5)
insert authors values ('2', null, null, null)
select column_name, is_nullable from information_schema.columns where table_name = 'authors' order by ordinal_position
go
exec sp_addtype id, 'int'
go
exec sp_addtype other, 'nosuch(3)'
go
exec sp_addtype other
go
exec sp_droptype tid
go
drop table authors
exec sp_droptype tid
exec sp_droptype 'id'
select name from sys.types where is_user_defined = 1 order by name
go
