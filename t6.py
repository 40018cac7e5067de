import socket,subprocess,time,os,signal,sys,threading
import pytds
env=dict(os.environ,GHOSTLIGHT_SA_PASSWORD='Fake-engine-1')
port=21733
for i in range(int(sys.argv[1])):
    p=subprocess.Popen(['/tmp/cl/gl3','serve','--data','/tmp/cl/d4','--listen',f'127.0.0.1:{port}'],env=env,stdout=subprocess.PIPE,stderr=subprocess.STDOUT)
    p.stdout.readline()
    cs=[]
    for _ in range(600):
        s=socket.create_connection(('127.0.0.1',port)); s.send(b'\x12'); cs.append(s)
    time.sleep(1.5)
    if i%2==0:
        for s in cs: s.close()
    t=time.time(); p.send_signal(signal.SIGTERM)
    try: p.wait(40); print(i,'stopped',round(time.time()-t,2),p.returncode, p.stdout.read()[-100:],flush=True)
    except Exception as e:
        print(i,'HANG',e,p.pid,flush=True); break
