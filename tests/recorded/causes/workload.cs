// A shop whose requests await, queue, wait for a lock, compute side by side and call another
// request, while threads that have nothing to do with them compute, too.
using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Threading;
using System.Threading.Tasks;

[EventSource(Name = "Etwgen-Shop")]
sealed class Shop : EventSource
{
    public static readonly Shop Log = new Shop();

    [Event(1)]
    public void RequestStart(string method, string path) { WriteEvent(1, method, path); }
    [Event(2)]
    public void RequestStop(int statusCode) { WriteEvent(2, statusCode); }
    [Event(3)]
    public void LookupStart(string name) { WriteEvent(3, name); }
    [Event(4)]
    public void LookupStop() { WriteEvent(4); }
}

static class Program
{
    static readonly object oven = new object();
    static volatile bool closed;

    // Knead computes for some milliseconds of a processor's time, or about that.
    static void Knead(int ms)
    {
        var end = Stopwatch.GetTimestamp() + ms * Stopwatch.Frequency / 1000;
        while (Stopwatch.GetTimestamp() < end) Thread.SpinWait(50);
    }

    // Sweep is what nobody asked for.
    static void Sweep()
    {
        while (!closed) { Knead(5); Thread.Sleep(5); }
    }

    static void Occupy()
    {
        while (!closed) { lock (oven) Knead(12); Thread.Sleep(6); }
    }

    static async Task Bake()
    {
        await Task.Delay(30);
        Knead(4);
    }

    static async Task Share()
    {
        await Task.WhenAll(Task.Run(() => Knead(10)), Task.Run(() => Knead(10)), Task.Run(() => Knead(10)));
    }

    static async Task Wait()
    {
        await Task.Yield();
        lock (oven) Knead(3);
    }

    static async Task Order()
    {
        Shop.Log.LookupStart("flour");
        await Task.Delay(15);
        Shop.Log.LookupStop();
        Knead(2);
    }

    static async Task Serve(string path, Func<Task> work)
    {
        Shop.Log.RequestStart("GET", path);
        await work();
        Shop.Log.RequestStop(200);
    }

    static async Task Open()
    {
        for (var i = 0; i < 6; i++)
        {
            await Serve("/bake", Bake);
            await Serve("/share", Share);
            await Serve("/wait", Wait);
            await Serve("/order", Order);
        }
        await Task.WhenAll(Serve("/bake", Bake), Serve("/order", Order), Serve("/share", Share));
    }

    static void Main()
    {
        new Thread(Sweep) { IsBackground = true }.Start();
        new Thread(Occupy) { IsBackground = true }.Start();
        Open().Wait();
        closed = true;
    }
}
