-- All 34 documented signs of currency, in constants and in text that becomes money; no others.
set nocount on
go
select $1 + ¢2 + £3 + ¤4 + ¥5 as a, ৲1 + ৳2 + ฿3 + ៛4 as b, ₠1 + ₡2 + ₢3 + ₣4 + ₤5 + ₥6 as c,
  ₦1 + ₧2 + ₨3 + ₩4 + ₪5 + ₫6 as d, €1 + ₭2 + ₮3 + ₯4 + ₰5 + ₱6 as e, ﷼1 + ﹩2 + ＄3 + ￠4 + ￡5 + ￥6 + ￦7 as f
select sql_variant_property(₨100.123, 'BaseType') as type, ₨100.12345 as rounded, -₧5 as negative, ₡ as nothing
go
declare @signs nvarchar(40) = N'$¢£¤¥৲৳฿៛₠₡₢₣₤₥₦₧₨₩₪₫€₭₮₯₰₱﷼﹩＄￠￡￥￦', @n int = 0, @sum money = 0
while @n < len(@signs)
begin
  set @n += 1
  set @sum += cast(substring(@signs, @n, 1) + N'1.50' as money) + cast(N'-' + substring(@signs, @n, 1) + N'0.50' as smallmoney)
end
select @n as signs, @sum as total
go
select cast(N'₹1' as money)
go
select ₹1
go
declare @m money = -$   10.12
select @m as m, € 7 as e
go
