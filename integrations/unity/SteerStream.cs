// Reads the steering stream of Choreograph and moves a skeleton by it. Put it on an empty object; it makes a small
// sphere for each joint, or moves the transforms that are named like the joints below `body`.
//
// Choreograph is right-handed with y up; Unity is left-handed: x and the rotations' y and z change sign.

using System;
using System.Collections.Generic;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using UnityEngine;

public class SteerStream : MonoBehaviour
{
    private const int Protocol = 1;
    private const string Magic = "CGS1";
    private const int HeaderBytes = 32;

    [Serializable]
    private class Hello
    {
        public string type;
        public string error;
        public int protocol;
        public string[] joints;
        public int[] parents;
    }

    [Tooltip("Of a studio that runs: choreograph studio people.mog")]
    public string address = "ws://127.0.0.1:8765/api/steer";
    [Tooltip("Transforms below it that are named like joints are moved; left empty, spheres show the joints.")]
    public Transform body;
    public int character = 0;

    private readonly CancellationTokenSource over = new CancellationTokenSource();
    private readonly object door = new object();
    private byte[] newest;
    private string helloText;
    private Transform[] joints;

    private async void Start()
    {
        try { await Read(over.Token); }
        catch (OperationCanceledException) { }
        catch (Exception error) { Debug.LogWarning("steering ended: " + error.Message); }
    }

    private void OnDestroy() => over.Cancel();

    private async Task Read(CancellationToken cancel)
    {
        using (var socket = new ClientWebSocket())
        {
            await socket.ConnectAsync(new Uri(address), cancel);
            var part = new byte[1 << 16];
            while (socket.State == WebSocketState.Open)
            {
                var whole = new MemoryStream();
                WebSocketReceiveResult got;
                do
                {
                    got = await socket.ReceiveAsync(new ArraySegment<byte>(part), cancel);
                    whole.Write(part, 0, got.Count);
                } while (!got.EndOfMessage);
                if (got.MessageType == WebSocketMessageType.Close) return;
                lock (door)
                {
                    // Only the newest frame counts; one that came before it is forgotten.
                    if (got.MessageType == WebSocketMessageType.Binary) newest = whole.ToArray();
                    else if (helloText == null)
                    {
                        var text = Encoding.UTF8.GetString(whole.ToArray());
                        var said = JsonUtility.FromJson<Hello>(text);
                        if (said.type == "hello" && said.protocol != Protocol)
                            throw new Exception("the server speaks protocol " + said.protocol + ", this script " + Protocol);
                        if (said.type == "hello") helloText = text;
                        else if (said.type == "error") throw new Exception(said.error);
                    }
                }
            }
        }
    }

    private void Update()
    {
        byte[] frame;
        lock (door)
        {
            frame = newest;
            newest = null;
            if (joints == null && helloText != null) Build(JsonUtility.FromJson<Hello>(helloText));
        }
        if (frame != null && joints != null) Show(frame);
    }

    private void Build(Hello hello)
    {
        var named = new Dictionary<string, Transform>();
        if (body != null) foreach (var one in body.GetComponentsInChildren<Transform>()) named[one.name] = one;
        joints = new Transform[hello.joints.Length];
        for (var j = 0; j < joints.Length; j++)
        {
            if (named.TryGetValue(hello.joints[j], out joints[j])) continue;
            if (body != null) continue; // a body that lacks this joint
            var made = GameObject.CreatePrimitive(PrimitiveType.Sphere).transform;
            made.name = hello.joints[j];
            made.localScale = 0.05f * Vector3.one;
            made.SetParent(hello.parents[j] < 0 ? transform : joints[hello.parents[j]], false);
            joints[j] = made;
        }
        if (body == null) Offsets();
    }

    /// The joints' offsets, which JsonUtility cannot read as lists of lists.
    private void Offsets()
    {
        var begin = helloText.IndexOf("\"offsets\"", StringComparison.Ordinal);
        begin = helloText.IndexOf('[', begin);
        var end = helloText.IndexOf("]]", begin, StringComparison.Ordinal);
        var numbers = helloText.Substring(begin, end - begin).Replace("[", "").Replace("]", "").Split(',');
        for (var j = 0; j < joints.Length; j++)
        {
            var at = new float[3];
            for (var k = 0; k < 3; k++)
                at[k] = float.Parse(numbers[3 * j + k], System.Globalization.CultureInfo.InvariantCulture);
            // Spheres are 5 cm wide, and what is below them is scaled with them.
            var size = j == 0 ? 1f : joints[j].parent.lossyScale.x;
            joints[j].localPosition = new Vector3(-at[0], at[1], at[2]) / size;
            if (j > 0) joints[j].localScale = Vector3.one;
        }
    }

    private void Show(byte[] frame)
    {
        var read = new BinaryReader(new MemoryStream(frame));
        if (frame.Length < HeaderBytes || Encoding.ASCII.GetString(read.ReadBytes(4)) != Magic) return;
        read.ReadUInt32(); // number
        read.ReadDouble(); // seconds
        var characters = read.ReadUInt32();
        var count = (int)read.ReadUInt32();
        if (character >= characters || count != joints.Length) return;
        frame = frame.AsSpan(HeaderBytes + character * (4 * (3 + 4 * count) + 12)).ToArray();
        Func<int, float> number = n => BitConverter.ToSingle(frame, 4 * n);
        if (joints[0] != null) joints[0].localPosition = new Vector3(-number(0), number(1), number(2));
        for (var j = 0; j < count; j++)
        {
            if (joints[j] == null) continue;
            var n = 3 + 4 * j;
            joints[j].localRotation = new Quaternion(number(n), -number(n + 1), -number(n + 2), number(n + 3));
        }
    }
}
