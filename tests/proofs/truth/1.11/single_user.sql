create database d
go
use d
alter database d set single_user with rollback immediate
select user_access_desc, has_dbaccess('d') as access from sys.databases where name = 'd'
go
use master
alter database d set offline with rollback immediate
alter database d set online
use d
select databasepropertyex('d', 'useraccess') as access
alter database d set multi_user
select user_access_desc from sys.databases where name = 'd'
go
