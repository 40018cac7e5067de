begin isolation level repeatable read;
select id from test;
