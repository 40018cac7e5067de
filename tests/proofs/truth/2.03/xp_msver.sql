-- xp_msver: all, some in their order, none that is not there.
declare @v table ([Index] int, Name sysname, Internal_Value int, Character_Value nvarchar(512)); insert @v exec xp_msver; select [Index], Name, Internal_Value, Character_Value from @v where [Index] in (1, 2, 3, 4, 9, 14, 18); select count(*), sum(case when Name = 'ProcessorCount' and Internal_Value = cast(Character_Value as int) then 1 when Name = 'PhysicalMemory' and Internal_Value > 0 then 1 end) from @v
GO
exec master..xp_msver 'ProductVersion'
GO
exec master.dbo.xp_msver N'ProductName', ProductVersion
GO
exec xp_msver 'NoSuchThing'
GO
