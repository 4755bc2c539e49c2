using System;
using System.Collections.Generic;
using System.Threading;

// A program to watch: it allocates, collects, throws and waits until its input ends.
static class App
{
    static void Main()
    {
        bool over = false;
        new Thread(() => { while (Console.In.Read() >= 0) { } over = true; }) { IsBackground = true }.Start();
        var kept = new List<byte[]>();
        for (int i = 0; !Volatile.Read(ref over); i++)
        {
            kept.Add(new byte[10000]);
            if (kept.Count == 1000)
            {
                kept.RemoveRange(0, 900);
                GC.Collect();
                try { throw new InvalidOperationException("on purpose"); } catch (InvalidOperationException) { }
            }
            if (i % 100 == 0) Thread.Sleep(1);
        }
    }
}
