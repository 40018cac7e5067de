set session transaction isolation level repeatable read;
start transaction with consistent snapshot;
select id from test;
