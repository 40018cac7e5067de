alter database master set offline
go
alter database msdb set offline
go
alter database nowhere set emergency
go
alter database nowhere set online, offline
go
drop database msdb
go
