create table tb_branches (bid int primary key, bbalance int, filler char(88)) charset latin1;
create table tb_tellers (tid int primary key, bid int, tbalance int, filler char(84)) charset latin1;
create table tb_accounts (aid int primary key, bid int, abalance int, filler char(84)) charset latin1;
create table tb_history (tid int, bid int, aid int, delta int, mtime datetime, filler char(22)) charset latin1;
insert into tb_branches select seq, 0, '' from seq_1_to_10;
insert into tb_tellers select seq, (seq - 1) div 10 + 1, 0, '' from seq_1_to_100;
insert into tb_accounts select seq, (seq - 1) div 100000 + 1, 0, '' from seq_1_to_1000000;
delimiter //
create procedure tpcb()
begin
    declare a int default 1 + floor(rand() * 1000000);
    declare b int default 1 + floor(rand() * 10);
    declare t int default 1 + floor(rand() * 100);
    declare d int default floor(rand() * 10001) - 5000;
    declare x int;
    start transaction;
    update tb_accounts set abalance = abalance + d where aid = a;
    select abalance into x from tb_accounts where aid = a;
    update tb_tellers set tbalance = tbalance + d where tid = t;
    update tb_branches set bbalance = bbalance + d where bid = b;
    insert into tb_history (tid, bid, aid, delta, mtime) values (t, b, a, d, now());
    commit;
end //
create procedure tpcb_loop(n int)
begin
    declare i int default 0;
    while i < n do
        call tpcb();
        set i = i + 1;
    end while;
end //
