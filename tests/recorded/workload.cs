// The program whose traces record.sh takes. Each argument names a theme; a
// theme does one small thing a few times, so that its trace stays small.

using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

public enum Colour : byte { Red = 1, Green = 2, Blue = 200 }

[Flags]
public enum Rights : long { None = 0, Read = 1, Write = 2, Far = 1L << 40 }

// Every type of parameter that an EventSource takes in its classic format.
[EventSource(Name = "Etwgen-Workload")]
public sealed class WorkloadSource : EventSource
{
    public static readonly WorkloadSource Log = new WorkloadSource();

    private WorkloadSource()
        : base(EventSourceSettings.EtwManifestEventFormat | EventSourceSettings.ThrowOnEventWriteErrors) { }

    public static class Keywords
    {
        public const EventKeywords Scalars = (EventKeywords)0x1;
        public const EventKeywords Texts = (EventKeywords)0x2;
        public const EventKeywords Spans = (EventKeywords)0x4;
    }

    public static class Tasks
    {
        public const EventTask Request = (EventTask)1;
    }

    [Event(1, Level = EventLevel.Informational, Keywords = Keywords.Scalars)]
    public void Integers(bool flag, byte u8, sbyte i8, short i16, ushort u16, int i32, uint u32, long i64, ulong u64)
    {
        WriteEvent(1, flag, u8, i8, i16, u16, i32, u32, i64, u64);
    }

    [Event(2, Level = EventLevel.Verbose, Keywords = Keywords.Scalars, Version = 3)]
    public void Others(float f32, double f64, char letter, DateTime when, Guid id, IntPtr pointer, Colour colour, Rights rights)
    {
        WriteEvent(2, f32, f64, letter, when, id, pointer, colour, rights);
    }

    [Event(3, Keywords = Keywords.Texts, Message = "the text is {0}")]
    public void Text(string text) { WriteEvent(3, text); }

    [Event(4, Keywords = Keywords.Texts)]
    public void Bytes(string name, byte[] data, int tail) { WriteEvent(4, name, data, tail); }

    [Event(5, Keywords = Keywords.Spans, Task = Tasks.Request, Opcode = EventOpcode.Start)]
    public void RequestStart(int number) { WriteEvent(5, number); }

    [Event(6, Keywords = Keywords.Spans, Task = Tasks.Request, Opcode = EventOpcode.Stop)]
    public void RequestStop(int number) { WriteEvent(6, number); }

    [Event(7, Keywords = Keywords.Spans, Opcode = EventOpcode.Send)]
    public void Hop(Guid relatedActivityId, int number) { WriteEventWithRelatedActivityId(7, relatedActivityId, number); }

    [Event(8, Level = EventLevel.Critical)]
    public void Empty() { WriteEvent(8); }
}

// What only the self-describing format takes.
[EventSource(Name = "Etwgen-Workload-Arrays")]
public sealed class ArraySource : EventSource
{
    public static readonly ArraySource Log = new ArraySource();

    private ArraySource() : base(EventSourceSettings.EtwSelfDescribingEventFormat) { }

    [Event(1)]
    public void Numbers(int[] numbers, double[] ratios) { WriteEvent(1, numbers, ratios); }

    [Event(2)]
    public void Pair(int number, Inner inner) { WriteEvent(2, number, inner); }
}

// Events without declared methods: their layout comes from the values.
[EventData]
public class Inner { public string Word { get; set; } public short Small { get; set; } }

[EventData]
public class Outer { public int First { get; set; } public Inner Middle { get; set; } public double Last { get; set; } }

public class Node { public Node Next; public int[] Data; }

public class Finalized { ~Finalized() { } }

public struct Pair<A, B> { public A First; public B Second; }

public static class Workload
{
    private static volatile object kept;

    public static int Main(string[] themes)
    {
        foreach (string theme in themes)
        {
            switch (theme)
            {
                case "gc": Collections(); break;
                case "alloc": Allocations(); break;
                case "exceptions": Exceptions(); break;
                case "threads": Threads(); break;
                case "jit": Jit(); break;
                case "source": Source(); break;
                case "flood": Flood(); break;
                default: Console.Error.WriteLine("unknown theme " + theme); return 2;
            }
        }
        return 0;
    }

    // Generations 0, 1 and 2, blocking and in the background, the large object
    // heap, pinned objects, handles of every kind, finalizers.
    private static void Collections()
    {
        Node head = null;
        for (int i = 0; i < 200; i++) head = new Node { Next = head, Data = new int[64] };
        kept = head;
        for (int i = 0; i < 20; i++) new Finalized();

        byte[] pinned = new byte[1000];
        GCHandle pin = GCHandle.Alloc(pinned, GCHandleType.Pinned);
        GCHandle weak = GCHandle.Alloc(new object(), GCHandleType.Weak);
        GCHandle tracked = GCHandle.Alloc(new object(), GCHandleType.WeakTrackResurrection);
        GCHandle strong = GCHandle.Alloc(new object());
        ConditionalWeakTable<object, object> table = new ConditionalWeakTable<object, object>();
        table.Add(head, pinned);

        GC.Collect(0);
        GC.Collect(1);
        object large = new byte[200000];
        GC.Collect(2, GCCollectionMode.Forced, true, true);
        large = new byte[300000];
        GC.Collect(2, GCCollectionMode.Forced, false);
        GC.WaitForPendingFinalizers();
        GC.AddMemoryPressure(1 << 20);
        GC.RemoveMemoryPressure(1 << 20);
        GC.KeepAlive(large);
        GC.KeepAlive(table);
        pin.Free();
        weak.Free();
        tracked.Free();
        strong.Free();
    }

    // Enough to make the allocator ask for more, small objects and large ones.
    private static void Allocations()
    {
        for (int i = 0; i < 3000; i++)
        {
            kept = new string('x', 200);
            kept = new Pair<int, string>[8];
            if (i % 100 == 0) kept = new long[20000];
        }
    }

    private static void Exceptions()
    {
        for (int i = 0; i < 3; i++)
        {
            try { Throw(i); }
            catch (InvalidOperationException e) when (e.Message.Length > 3) { kept = e; }
            finally { kept = null; }
        }
        try
        {
            try { Throw(7); }
            catch (Exception e) { throw new ArgumentException("outer \u00e9\u4e16\U0001f600", e); }
        }
        catch (ArgumentException e) { kept = e; }
        try { kept = ((int[])null).Length; }
        catch (NullReferenceException e) { kept = e; }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Throw(int i) { throw new InvalidOperationException("number " + i); }

    // Threads that wait for one lock, work for the pool, tasks and timers.
    private static void Threads()
    {
        object gate = new object();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() =>
            {
                for (int n = 0; n < 3; n++) lock (gate) Thread.Sleep(5);
            });
            threads[i].Name = "worker " + i;
            threads[i].Start();
        }
        foreach (Thread t in threads) t.Join();

        using (CountdownEvent done = new CountdownEvent(20))
        {
            for (int i = 0; i < 20; i++) ThreadPool.QueueUserWorkItem(_ => { Thread.Sleep(2); done.Signal(); });
            done.Wait();
        }
        Task.WhenAll(Later(1), Later(2), Later(3)).Wait();
    }

    private static async Task<int> Later(int n)
    {
        await Task.Delay(10 * n);
        await Task.Yield();
        return n;
    }

    // Methods that the runtime compiles: generic ones over values and
    // references, lambdas, dynamic methods, a dynamic assembly, and calls that
    // repeat until they are compiled again.
    private static void Jit()
    {
        kept = Swap(new Pair<int, string> { First = 1, Second = "one" });
        kept = Swap(new Pair<double, Guid> { First = 2, Second = Guid.Empty });
        kept = Swap(new Pair<string, object> { First = "three", Second = null });

        Func<int, int> twice = x => x * 2;
        int sum = 0;
        for (int i = 0; i < 100; i++) sum += Add(twice(i), i);
        kept = sum;

        DynamicMethod dynamic = new DynamicMethod("Triple", typeof(int), new[] { typeof(int) });
        ILGenerator il = dynamic.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_3);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Ret);
        kept = ((Func<int, int>)dynamic.CreateDelegate(typeof(Func<int, int>)))(14);

        AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.RunAndCollect);
        TypeBuilder type = assembly.DefineDynamicModule("Made").DefineType("Maker", TypeAttributes.Public);
        il = type.DefineMethod("Five", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_5);
        il.Emit(OpCodes.Ret);
        kept = type.CreateType().GetMethod("Five").Invoke(null, null);
        Thread.Sleep(300);
        for (int i = 0; i < 100; i++) sum += Add(i, sum);
        kept = sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Pair<B, A> Swap<A, B>(Pair<A, B> p) { return new Pair<B, A> { First = p.Second, Second = p.First }; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Add(int a, int b) { return a + b; }

    private static void Source()
    {
        WorkloadSource log = WorkloadSource.Log;
        log.Integers(true, 0xfe, -2, -30000, 60000, -2000000000, 4000000000, -9000000000000000000, 18000000000000000000);
        log.Integers(false, 0, 0, 0, 0, 0, 0, 0, 0);
        log.Others(1.5f, -2.25e-300, '\u4e16', new DateTime(2020, 2, 29, 12, 34, 56, 789, DateTimeKind.Utc),
            new Guid("00112233-4455-6677-8899-aabbccddeeff"), new IntPtr(0x1234567890), Colour.Blue, Rights.Far | Rights.Read);
        log.Text("plain");
        log.Text("");
        log.Text(null);
        log.Text("caf\u00e9 \u4e16\u754c \U0001f600 \ud800 lone");
        log.Bytes("three", new byte[] { 1, 2, 255 }, 77);
        log.Bytes("none", new byte[0], 78);

        log.RequestStart(1);
        log.RequestStart(2);
        log.Hop(new Guid("99999999-8888-7777-6666-555555555555"), 3);
        log.RequestStop(2);
        log.RequestStop(1);
        log.Empty();

        ArraySource.Log.Numbers(new[] { 1, -2, int.MaxValue }, new[] { 0.5, -2.25 });
        ArraySource.Log.Pair(1, new Inner { Word = "in", Small = -5 });

        log.Write("Undeclared", new { Name = "anonymous", Count = 3, Ratio = 0.5 });
        log.Write("Money", new { Amount = -12345678901234567890.123456789m, Letter = 'q', Small = (sbyte)-1 });
        log.Write("Nested", new Outer { First = 1, Middle = new Inner { Word = "in", Small = -5 }, Last = 2.5 });
        log.Write("Arrays", new { Odd = new[] { 1, 3, 5 }, Word = "w" });
        log.Write("Nothing", new EventSourceOptions { Level = EventLevel.Warning, Keywords = (EventKeywords)0x8, Opcode = (EventOpcode)50 });
    }

    // More events than a small buffer holds, from two threads.
    private static void Flood()
    {
        Thread other = new Thread(() => Pour(100000));
        other.Start();
        Pour(0);
        other.Join();
    }

    private static void Pour(int first)
    {
        string text = new string('f', 100);
        for (int i = 0; i < 4000; i++)
        {
            WorkloadSource.Log.RequestStart(first + i);
            if (i % 8 == 0) WorkloadSource.Log.Text(text);
        }
    }
}
