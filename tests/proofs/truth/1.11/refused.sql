alter database master set single_user
go
alter database tempdb set read_only
go
alter database master set read_only with rollback immediate
go
alter database nowhere set single_user with no_wait
go
