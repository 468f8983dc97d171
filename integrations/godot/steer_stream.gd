# Reads the steering stream of Choreograph and moves a Skeleton3D by it (Godot 4). Put it on a Node3D; without a skeleton
# it makes one with the stream's joints. Godot is right-handed with y up, as Choreograph is: nothing changes sign.
extends Node3D

const PROTOCOL := 1
const MAGIC := "CGS1"
const HEADER_BYTES := 32

## Of a studio that runs: choreograph studio people.mog
@export var address := "ws://127.0.0.1:8765/api/steer"
## Bones that are named like joints are moved; left empty, a skeleton is made.
@export var skeleton: Skeleton3D
@export var character := 0

var _socket := WebSocketPeer.new()
var _joints: Array = []
var _bones: PackedInt32Array = []


func _ready() -> void:
	_socket.inbound_buffer_size = 1 << 20
	if _socket.connect_to_url(address) != OK:
		push_warning("steering: %s cannot be reached" % address)
		set_process(false)


func _process(_delta: float) -> void:
	_socket.poll()
	if _socket.get_ready_state() == WebSocketPeer.STATE_CLOSED:
		push_warning("steering ended: %s" % _socket.get_close_reason())
		set_process(false)
		return
	var newest := PackedByteArray()
	while _socket.get_available_packet_count() > 0:
		var packet := _socket.get_packet()
		if not _socket.was_string_packet():
			newest = packet  # only the newest frame counts
		elif _joints.is_empty():
			_hear(packet.get_string_from_utf8())
	if newest.size() >= HEADER_BYTES and not _joints.is_empty():
		_show(newest)


func _hear(text: String) -> void:
	var said: Variant = JSON.parse_string(text)
	if said is not Dictionary:
		return
	if said.get("type") == "error":
		push_warning("steering: %s" % said["error"])
	if said.get("type") != "hello":
		return
	if int(said["protocol"]) != PROTOCOL:
		push_warning("steering: the server speaks protocol %s, this script %s" % [said["protocol"], PROTOCOL])
		return
	_joints = said["joints"]
	if skeleton == null:
		skeleton = Skeleton3D.new()
		add_child(skeleton)
		for j in _joints.size():
			skeleton.add_bone(_joints[j])
			skeleton.set_bone_parent(j, int(said["parents"][j]))
			var offset: Array = said["offsets"][j]
			var at := Vector3(offset[0], offset[1], offset[2])
			skeleton.set_bone_rest(j, Transform3D(Basis(), at))
			skeleton.set_bone_pose_position(j, at)
	for joint in _joints:
		_bones.append(skeleton.find_bone(joint))


func _show(frame: PackedByteArray) -> void:
	if frame.slice(0, 4).get_string_from_ascii() != MAGIC:
		return
	var characters := frame.decode_u32(16)
	var count := frame.decode_u32(20)
	if character >= characters or count != _bones.size():
		return
	var at := HEADER_BYTES + character * (4 * (3 + 4 * count) + 12)
	if _bones[0] >= 0:
		skeleton.set_bone_pose_position(_bones[0], Vector3(frame.decode_float(at), frame.decode_float(at + 4), frame.decode_float(at + 8)))
	for j in count:
		if _bones[j] < 0:
			continue
		var n := at + 4 * (3 + 4 * j)
		var turn := Quaternion(frame.decode_float(n), frame.decode_float(n + 4), frame.decode_float(n + 8), frame.decode_float(n + 12))
		skeleton.set_bone_pose_rotation(_bones[j], turn.normalized())
