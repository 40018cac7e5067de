SET NOCOUNT ON
GO
create table n (a int constraint ck check (a > 0))
GO
create view v as select a from n
GO
-- of what there is sa has every permission, of what there is not none
select has_perms_by_name('dbo.n', 'OBJECT', 'SELECT'), has_perms_by_name('[dbo].[n]', 'object', 'INSERT'), has_perms_by_name('nothing', 'OBJECT', 'SELECT'), has_perms_by_name('dbo.nothing', 'OBJECT', 'ANY'), has_perms_by_name('v', 'OBJECT', 'SELECT'), has_perms_by_name('sys.objects', 'OBJECT', 'SELECT')
GO
select has_perms_by_name('n', 'OBJECT', 'SELECT', 'a', 'COLUMN'), has_perms_by_name('n', 'OBJECT', 'SELECT', 'b', 'COLUMN')
GO
select has_perms_by_name(db_name(), 'DATABASE', 'ANY'), has_perms_by_name(null, 'DATABASE', 'ANY'), has_perms_by_name('nothing', 'DATABASE', 'ANY'), has_perms_by_name('sa', 'LOGIN', 'ALTER'), has_perms_by_name('nosuch', 'LOGIN', 'ALTER')
GO
-- NULL is the server, and the answer to what is no question
select has_perms_by_name(null, null, 'CONTROL SERVER'), has_perms_by_name(null, 'SERVER', 'CONNECT SQL'), has_perms_by_name('anything', 'SERVER', 'CONNECT SQL'), has_perms_by_name('n', 'NOTHING', 'SELECT'), has_perms_by_name('n', 'OBJECT', null)
GO
