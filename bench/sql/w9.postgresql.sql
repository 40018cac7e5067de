create table tb_branches (bid int primary key, bbalance int, filler char(88));
create table tb_tellers (tid int primary key, bid int, tbalance int, filler char(84));
create table tb_accounts (aid int primary key, bid int, abalance int, filler char(84));
create table tb_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
insert into tb_branches select i, 0, '' from generate_series(1, 10) i;
insert into tb_tellers select i, (i - 1) / 10 + 1, 0, '' from generate_series(1, 100) i;
insert into tb_accounts select i, (i - 1) / 100000 + 1, 0, '' from generate_series(1, 1000000) i;
vacuum analyze;
create procedure tpcb() language plpgsql as $$
declare
    a int := 1 + floor(random() * 1000000)::int;
    b int := 1 + floor(random() * 10)::int;
    t int := 1 + floor(random() * 100)::int;
    d int := floor(random() * 10001)::int - 5000;
    x int;
begin
    update tb_accounts set abalance = abalance + d where aid = a;
    select abalance into x from tb_accounts where aid = a;
    update tb_tellers set tbalance = tbalance + d where tid = t;
    update tb_branches set bbalance = bbalance + d where bid = b;
    insert into tb_history (tid, bid, aid, delta, mtime) values (t, b, a, d, current_timestamp);
end $$;
create procedure tpcb_loop(n int) language plpgsql as $$
begin
    for i in 1..n loop
        call tpcb();
        commit;
    end loop;
end $$;
