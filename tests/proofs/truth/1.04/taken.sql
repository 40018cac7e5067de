-- A name that is taken is taken, whatever state its database is in.
create database a
alter database a set offline
go
create database A
go
create database tempdb
go
create database msdb
go
drop database a
go
create database a
go
