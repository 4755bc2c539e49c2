// The program whose traces are beside this file. Its argument is what it does. It
// keeps to what a trimmed program of .NET 9 or 10 still has.
#if OLDREFS
extern alias newer;
#endif
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Threading;
using System.Threading.Tasks;

// Requests come as pairs of events that begin and end an activity.
[EventSource(Name = "Etwgen-Shop")]
sealed class Shop : EventSource
{
    public static readonly Shop Log = new Shop();
    PollingCounter stock;

    [Event(1)]
    public void RequestStart(string path) { WriteEvent(1, path); }
    [Event(2)]
    public void RequestStop(int statusCode) { WriteEvent(2, statusCode); }
    [Event(3)]
    public void LookupStart(string name) { WriteEvent(3, name); }
    [Event(4)]
    public void LookupStop() { WriteEvent(4); }

    protected override void OnEventCommand(EventCommandEventArgs command)
    {
        if (command.Command == EventCommand.Enable && stock == null)
            stock = new PollingCounter("stock", this, () => Stock) { DisplayName = "Stock", DisplayUnits = "pieces" };
    }

    public static double Stock = 100;
}

sealed class Node
{
    ~Node() { Program.Finalized++; }
}

sealed class Leaf
{
    public long Size;
}

public static class Program
{
    public static int Finalized;
    static readonly object gate = new object();
    static List<object> keep = new List<object>();

    public static int Main(string[] args)
    {
        switch (args.Length > 0 ? args[0] : "")
        {
            case "gc": Collect(); break;
            case "alloc": Allocate(); break;
            case "waits": Wait(); break;
            case "locks": Lock(); break;
            case "pool": Starve(); break;
            case "jit": Compile(); break;
            case "throw": Throw(); break;
            case "requests": Serve(); break;
            case "counters": Count(); break;
            case "heap": Keep(); break;
            default: return 2;
        }
        GC.KeepAlive(keep);
        return 0;
    }

    // Collections of all generations, on demand and as memory runs out; large and
    // pinned objects. Large ones that live make background collections.
    static void Collect()
    {
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < 2000; i++) keep.Add(new byte[1000 + i % 7]);
            Pin();
            new Node();
            GC.Collect();
        }
        for (int round = 0; round < 500; round++)
        {
            keep.Add(new byte[300000]);
            for (int i = 0; i < 600; i++) keep.Add(new byte[i % 900]);
            if (keep.Count > 60000) keep.RemoveRange(0, 50000);
        }
        GC.WaitForPendingFinalizers();
        Thread.Sleep(100);
    }

    // A heap to look at: a chain of a hundred nodes, each with ten leaves, that one
    // field keeps.
    static object chain;

    static void Keep()
    {
        object[] before = null;
        for (int i = 0; i < 100; i++)
        {
            var link = new object[11];
            for (int k = 0; k < 10; k++) link[k] = new Leaf();
            link[10] = before;
            before = link;
        }
        chain = before;
        Thread.Sleep(3000);
        GC.KeepAlive(chain);
    }

    // Pin allocates on the heap of pinned objects. With OLDREFS the program is compiled
    // against reference assemblies that do not have that method yet.
    static void Pin()
    {
#if OLDREFS
        keep.Add(newer::System.GC.AllocateUninitializedArray<byte>(5000, true));
#else
        keep.Add(GC.AllocateUninitializedArray<byte>(5000, true));
#endif
    }

    // Objects of known types, in known amounts.
    static void Allocate()
    {
        for (int i = 0; i < 40000; i++)
        {
            keep.Add(new Leaf());
            if (i % 10 == 0) keep.Add(new long[64]);
            if (i % 4000 == 0) keep.Add(new int[40000]);
        }
    }

    // Waits for events, semaphores, tasks, and with Monitor.
    static void Wait()
    {
        var ready = new ManualResetEvent(false);
        var turn = new AutoResetEvent(false);
        var places = new SemaphoreSlim(0);
        var worker = new Thread(() =>
        {
            Thread.Sleep(20); ready.Set();
            Thread.Sleep(20); turn.Set();
            Thread.Sleep(20); places.Release();
            Thread.Sleep(20); lock (gate) Monitor.Pulse(gate);
        });
        worker.Name = "giver";
        worker.Start();
        ready.WaitOne();
        turn.WaitOne();
        places.Wait();
        lock (gate) Monitor.Wait(gate, 1000);
        worker.Join();
        Task.Run(() => Thread.Sleep(20)).Wait();
        turn.WaitOne(15);
    }

    // Threads that fight for one lock.
    static void Lock()
    {
        var threads = new List<Thread>();
        for (int t = 0; t < 3; t++)
        {
            var thread = new Thread(() => { for (int i = 0; i < 5; i++) lock (gate) Thread.Sleep(4); });
            thread.Name = "fighter";
            thread.Start();
            threads.Add(thread);
        }
        foreach (var thread in threads) thread.Join();
    }

    // Work that blocks all workers of the thread pool: some of it sleeps, some waits
    // for other work.
    static void Starve()
    {
        var all = new List<Task>();
        for (int i = 0; i < 6; i++) all.Add(Task.Run(() => Thread.Sleep(1200)));
        for (int i = 0; i < 6; i++) all.Add(Task.Run(() => Task.Delay(200).Wait()));
        foreach (var task in all) task.Wait();
    }

    static long sum;

    // A method that is called often enough for a better tier, and one that stays in
    // a loop long enough to be replaced on the stack.
    static void Compile()
    {
        for (int round = 0; round < 8; round++)
        {
            for (int i = 0; i < 60; i++) sum += Square(i) + Cube(i);
            Thread.Sleep(60);
        }
        Loop(3000000);
        Thread.Sleep(200);
    }

    static long Square(int i) { return (long)i * i; }
    static long Cube(int i) { try { return Square(i) * i; } finally { sum++; } }
    static void Loop(int n) { for (int i = 0; i < n; i++) sum += i % 7; }

    // Exceptions that are caught, thrown again and filtered.
    static void Throw()
    {
        for (int i = 0; i < 5; i++)
        {
            try
            {
                try { throw new InvalidOperationException("nothing to do"); }
                catch (InvalidOperationException) { throw; }
                finally { sum++; }
            }
            catch (Exception e) when (e.Message.Length > 3) { sum++; }
        }
        try { int zero = (int)(sum - sum); sum /= zero; } catch (DivideByZeroException) { }
        var thread = new Thread(() => { try { throw new FormatException("not a number"); } catch (FormatException) { } });
        thread.Start();
        thread.Join();
    }

    // Requests, each with a look-up within it; some fail.
    static void Serve()
    {
        var log = Shop.Log;
        for (int i = 0; i < 12; i++)
        {
            log.RequestStart(i % 3 == 0 ? "/bread" : "/cake");
            log.LookupStart("flour");
            Thread.Sleep(3);
            log.LookupStop();
            Thread.Sleep(i % 4);
            log.RequestStop(i % 5 == 4 ? 500 : 200);
        }
    }

    // Counters and metrics for a few seconds.
    static void Count()
    {
        var log = Shop.Log;
        var meter = new System.Diagnostics.Metrics.Meter("Etwgen.Shop", "1.0");
        var sold = meter.CreateCounter<long>("sold", "{pieces}", "Pieces sold");
        var delay = meter.CreateHistogram<double>("delay", "ms", "Time to serve");
        for (int i = 0; i < 330; i++)
        {
            Shop.Stock = 100 + i % 10;
            sold.Add(1, new KeyValuePair<string, object>("kind", i % 2 == 0 ? "bread" : "cake"));
            delay.Record(i % 50, new KeyValuePair<string, object>("kind", "bread"));
            Thread.Sleep(10);
        }
        GC.KeepAlive(log);
    }
}
